/** Every power driver, by the name that users write as powerInterface. shared/drivers/index.ts loads them. */
export const driverNames = ['redfish', 'proxmox', 'ipmi', 'wol', 'http', 'snmp-pdu', 'job', 'liqo'] as const;

export type DriverName = (typeof driverNames)[number];
