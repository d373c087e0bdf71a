# All functions in one process, as npm run build left it in dist/; built from there:
#   docker build -f images/host.Dockerfile -t bamel-autoscaler/host dist
FROM node:26-slim
WORKDIR /app
COPY . .
USER 65532:65532
ENV NODE_ENV=production PORT=8080
EXPOSE 8080
CMD ["node", "host.mjs"]
