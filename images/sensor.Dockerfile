# The pressure sensor, as npm run build left it in dist/sensor; built from there:
#   docker build -f images/sensor.Dockerfile -t bamel-autoscaler/sensor dist/sensor
FROM node:26-slim
WORKDIR /app
COPY . .
USER 65534:65534
ENV NODE_ENV=production
ENTRYPOINT ["node"]
CMD ["--max-semi-space-size=1", "--no-opt", "--no-maglev", "--no-sparkplug", "index.mjs"]
