/** What Node.js is started with, as the image and the DaemonSet do. */
export const sensorFlags = ['--max-semi-space-size=1', '--no-opt', '--no-maglev', '--no-sparkplug'] as const;
