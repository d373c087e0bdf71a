# The pressure sensor, from what npm run build left in dist/sensor:
#   docker build -f images/sensor.Dockerfile -t "$REGISTRY/bamel-autoscaler-sensor:$TAG" dist/sensor
ARG BASE=docker.io/library/node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146
FROM ${BASE} AS compile
WORKDIR /app
COPY . .
# With the Node.js of this image: code that another version compiled is not used.
RUN ["node", "index.mjs", "--help"]

FROM ${BASE}
WORKDIR /app
COPY --from=compile /app /app
USER 65534:65534
ENV NODE_ENV=production
ENTRYPOINT ["node"]
CMD ["--max-semi-space-size=1", "--no-opt", "--no-maglev", "--no-sparkplug", "index.mjs"]
