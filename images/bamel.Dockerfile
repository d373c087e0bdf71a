# Host, functions, console, cluster-autoscaler provider and the bamel command, from what npm run build left in dist/:
#   docker build -f images/bamel.Dockerfile -t "$IMG" dist
# The first argument or BAMEL_FUNCTION names what a container runs; without either it is the host.
ARG BASE=docker.io/library/node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146
FROM ${BASE} AS compile
WORKDIR /app
COPY . .
# With the Node.js of this image: code that another version compiled is not used.
RUN ["node", "warm.mjs"]

FROM ${BASE}
WORKDIR /app
COPY --from=compile /app /app
USER 65532:65532
ENV NODE_ENV=production PORT=8080
EXPOSE 8080
ENTRYPOINT ["node", "/app/main.mjs"]
