/** Categories of pressure. */
export const pressureCategories = ['cpu', 'memory', 'network', 'storage', 'ephemeral-storage'] as const;

/** From nothing to much; which levels they begin at is set at the sensor, per category. */
export const pressureBands = ['calm', 'pressed', 'severe'] as const;
export type PressureBand = (typeof pressureBands)[number];
