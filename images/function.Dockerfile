# All functions, as npm run build left them in dist/; built from there. BAMEL_FUNCTION says which one a container runs:
#   docker build -f images/function.Dockerfile -t bamel-autoscaler/function dist
FROM node:26-slim
WORKDIR /app
COPY --chown=65532:65532 . .
USER 65532:65532
# Once more, with the Node.js of this image: code that another version compiled is not used.
RUN ["node", "warm.mjs"]
ENV NODE_ENV=production PORT=8080
EXPOSE 8080
CMD ["node", "function.mjs"]
