import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** BMCs by the name they are called by: one server plays them all, each answer 50 ms late. */
const latencyMs = 50;

const resources: Readonly<Record<string, (name: string) => object>> = {
  '/redfish/v1/': () => ({
    Systems: { '@odata.id': '/redfish/v1/Systems' },
    Chassis: { '@odata.id': '/redfish/v1/Chassis' },
  }),
  '/redfish/v1/Systems': () => ({ Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] }),
  '/redfish/v1/Systems/1': (name) => ({
    '@odata.id': '/redfish/v1/Systems/1',
    UUID: name,
    SerialNumber: name,
    PowerState: 'Off',
    Status: { Health: 'OK', HealthRollup: 'OK' },
    LogServices: { '@odata.id': '/redfish/v1/Systems/1/LogServices' },
    Links: { Chassis: [{ '@odata.id': '/redfish/v1/Chassis/1' }] },
    Actions: { '#ComputerSystem.Reset': { target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset' } },
  }),
  '/redfish/v1/Systems/1/LogServices': () => ({
    Members: [{ '@odata.id': '/redfish/v1/Systems/1/LogServices/SEL' }],
  }),
  '/redfish/v1/Systems/1/LogServices/SEL': () => ({
    Id: 'SEL',
    LogEntryType: 'SEL',
    Entries: { '@odata.id': '/redfish/v1/Systems/1/LogServices/SEL/Entries' },
  }),
  '/redfish/v1/Systems/1/LogServices/SEL/Entries': () => ({
    Members: Array.from({ length: 10 }, (_, index) => ({
      Id: String(index + 1),
      Created: `2026-01-01T00:00:0${index}Z`,
      Severity: 'OK',
      Message: 'The power was turned on.',
    })),
  }),
  '/redfish/v1/Chassis/1': () => ({
    Power: { '@odata.id': '/redfish/v1/Chassis/1/Power' },
    Thermal: { '@odata.id': '/redfish/v1/Chassis/1/Thermal' },
  }),
  '/redfish/v1/Chassis/1/Power': () => ({
    PowerControl: [{ PowerConsumedWatts: 5 }],
    PowerSupplies: [{ Name: 'PSU 1', Status: { Health: 'OK' } }],
  }),
  '/redfish/v1/Chassis/1/Thermal': () => ({
    Temperatures: [{ Name: 'Inlet', ReadingCelsius: 24, UpperThresholdCritical: 45 }],
    Fans: [{ Name: 'Fan 1', Status: { Health: 'OK' } }],
  }),
};

const server = createServer((request, response) => {
  const name = request.headers.host?.split('.')[0] ?? '';
  const resource = resources[request.url ?? ''];
  setTimeout(() => {
    response.writeHead(resource ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(resource?.(name) ?? {}));
  }, latencyMs);
});
server.listen(0, '127.0.0.1', 4096, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit(0));
