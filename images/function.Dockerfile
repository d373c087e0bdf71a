# One function, as npm run build left it in dist/functions/NAME; built from there:
#   docker build -f images/function.Dockerfile -t bamel-autoscaler/power-action dist/functions/power-action
FROM node:26-slim
WORKDIR /app
COPY --chown=65532:65532 . .
USER 65532:65532
# Once more, with the Node.js of this image: the executable is made of it, and no other can use its snapshot.
RUN ["node", "warm.mjs"]
ENV NODE_ENV=production PORT=8080
EXPOSE 8080
CMD ["./start"]
