# From a checkout to running pods. IMG names the image everywhere; docker, podman or buildah build it.
export IMG ?= registry.example/bamel-autoscaler:$(shell sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
ENGINE ?= docker
# registry/name-PART:tag
part = $(shell printf %s '$(IMG)' | sed 's/:[^:]*$$/-$(1)&/')

build: # The programs and all manifests, in dist/.
	npm run build

image: # Host, functions, console, provider and command.
	$(ENGINE) build -f images/bamel.Dockerfile -t $(IMG) dist

sensor-images: # The sensor and its eBPF loader.
	$(ENGINE) build -f images/sensor.Dockerfile -t $(call part,sensor) dist/sensor
	$(ENGINE) build -f images/sensor-bpf.Dockerfile -t $(call part,sensor-bpf) sensor/bpf

push:
	$(ENGINE) push $(IMG)

push-sensor:
	$(ENGINE) push $(call part,sensor)
	$(ENGINE) push $(call part,sensor-bpf)

.PHONY: build image sensor-images push push-sensor
