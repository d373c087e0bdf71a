import { readFileSync } from 'node:fs';
import { imageOf } from './image.ts';

/** Written by hand, except for the image. */
const withImage = (file: string, image: string) => ({
  file,
  text: () =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replace(/(?<=\bimage: ).*/, image),
});

export const sensorFiles = [
  withImage('config/sensor/daemonset.yaml', imageOf('sensor')),
  withImage('config/sensor-ebpf/loader.yaml', imageOf('sensor-bpf')),
];
