import { parseQuantity } from '../../../shared/core/cluster/resources.ts';
import { phases, type SimulatedMachine } from './machine.ts';
import { resetTypes } from './reset.ts';

export const root = '/redfish/v1';
export const paths = {
  systems: `${root}/Systems`,
  system: `${root}/Systems/1`,
  reset: `${root}/Systems/1/Actions/ComputerSystem.Reset`,
  resetInfo: `${root}/Systems/1/ResetActionInfo`,
  nics: `${root}/Systems/1/EthernetInterfaces`,
  nic: `${root}/Systems/1/EthernetInterfaces/1`,
  processors: `${root}/Systems/1/Processors`,
  logServices: `${root}/Systems/1/LogServices`,
  log: `${root}/Systems/1/LogServices/SEL`,
  logEntries: `${root}/Systems/1/LogServices/SEL/Entries`,
  chassisAll: `${root}/Chassis`,
  chassis: `${root}/Chassis/1`,
  power: `${root}/Chassis/1/Power`,
  thermal: `${root}/Chassis/1/Thermal`,
  sessionService: `${root}/SessionService`,
  sessions: `${root}/SessionService/Sessions`,
  tasks: `${root}/TaskService/Tasks`,
  monitors: `${root}/TaskService/TaskMonitors`,
};

const link = (path: string) => ({ '@odata.id': path });
const resource = (path: string, type: string, name: string) => ({
  '@odata.id': path,
  '@odata.type': type,
  Id: path.split('/').at(-1),
  Name: name,
});
export const collection = (path: string, type: string, members: string[]) => ({
  '@odata.id': path,
  '@odata.type': `#${type}.${type}`,
  Name: type,
  'Members@odata.count': members.length,
  Members: members.map(link),
});

const healthOf = (machine: SimulatedMachine) =>
  machine.faults.having('health')[0]?.effect ?? { health: 'OK' as const, celsius: 24 };

const statusOf = (machine: SimulatedMachine) => {
  const { health } = healthOf(machine);
  const [sick] = machine.faults.having('part');
  const State = machine.phase === 'off' ? 'Disabled' : 'Enabled';
  return { State, Health: health, HealthRollup: health === 'OK' ? (sick?.effect.health ?? health) : health };
};

const part = (machine: SimulatedMachine, at: string, kind: string, name: string, index: number) => ({
  ...link(`${at}#/${kind}/${index}`),
  MemberId: String(index),
  Name: name,
  Status: {
    State: 'Enabled',
    Health: machine.faults.having('part').find(({ effect }) => effect.name === name)?.effect.health ?? 'OK',
  },
});

/** One CPU, then the GPUs. */
const processors = ({ description }: SimulatedMachine) => [
  { Id: 'CPU1', ProcessorType: 'CPU', TotalThreads: description.cpu },
  ...Array.from({ length: description.gpu }, (_, index) => ({
    Id: `GPU${index + 1}`,
    ProcessorType: 'GPU',
    TotalThreads: undefined,
  })),
];

/** Of one of the processors, by its path. */
export function processorBody(machine: SimulatedMachine, path: string): object | undefined {
  const found = processors(machine).find(({ Id }) => path === `${paths.processors}/${Id}`);
  return found && { ...resource(path, '#Processor.v1_20_0.Processor', found.Id), ...found };
}

export type SystemBody = Omit<ReturnType<typeof plainSystem>, 'PowerState'> & { PowerState?: string };

/** The System as it is, then as the machine's faults tell it. */
export function systemBody(machine: SimulatedMachine): SystemBody {
  let system: SystemBody = plainSystem(machine);
  for (const { effect, used } of machine.faults.having('system')) {
    system = effect(system, machine);
    used();
  }
  return system;
}

function plainSystem(machine: SimulatedMachine) {
  const { description, identity } = machine;
  return {
    ...resource(paths.system, '#ComputerSystem.v1_22_0.ComputerSystem', description.name),
    SystemType: 'Physical',
    Manufacturer: 'Bamel',
    Model: 'Lab',
    HostName: description.name,
    UUID: identity.systemUUID,
    SerialNumber: identity.serialNumber,
    PowerState: machine.powerState as string,
    BootProgress: { LastState: phases[machine.phase].bootProgress },
    Boot: {
      ...machine.bootOverride,
      'BootSourceOverrideTarget@Redfish.AllowableValues': bootTargets,
    },
    ProcessorSummary: { Count: 1, LogicalProcessorCount: description.cpu },
    MemorySummary: { TotalSystemMemoryGiB: (parseQuantity(description.memory) ?? 0) / 2 ** 30 },
    Status: statusOf(machine),
    EthernetInterfaces: link(paths.nics),
    Processors: link(paths.processors),
    LogServices: link(paths.logServices),
    Links: { Chassis: [link(paths.chassis)] },
    Actions: {
      '#ComputerSystem.Reset': {
        target: paths.reset,
        '@Redfish.ActionInfo': paths.resetInfo,
        'ResetType@Redfish.AllowableValues': resetTypes,
      },
    },
  };
}

export const bootTargets = ['None', 'Pxe', 'Hdd', 'Cd', 'BiosSetup', 'UefiHttp'];
export const bootEnabled = ['Disabled', 'Once', 'Continuous'];

/** Every resource that is only read, by path. */
export const readable: Readonly<Record<string, (machine: SimulatedMachine) => object>> = {
  '/redfish': () => ({ v1: `${root}/` }),
  [root]: (machine) => ({
    ...resource(root, '#ServiceRoot.v1_16_1.ServiceRoot', 'Lab BMC'),
    Id: 'RootService',
    RedfishVersion: '1.20.0',
    UUID: machine.identity.systemUUID,
    Vendor: 'Bamel',
    Systems: link(paths.systems),
    Chassis: link(paths.chassisAll),
    SessionService: link(paths.sessionService),
    Tasks: link(`${root}/TaskService`),
    Links: { Sessions: link(paths.sessions) },
  }),
  [paths.systems]: () => collection(paths.systems, 'ComputerSystemCollection', [paths.system]),
  [paths.system]: systemBody,
  [paths.resetInfo]: () => ({
    ...resource(paths.resetInfo, '#ActionInfo.v1_4_0.ActionInfo', 'Reset'),
    Parameters: [{ Name: 'ResetType', Required: true, DataType: 'String', AllowableValues: resetTypes }],
  }),
  [paths.nics]: () => collection(paths.nics, 'EthernetInterfaceCollection', [paths.nic]),
  [paths.nic]: (machine) => ({
    ...resource(paths.nic, '#EthernetInterface.v1_12_0.EthernetInterface', 'First interface'),
    MACAddress: machine.identity.macAddress,
    PermanentMACAddress: machine.identity.macAddress,
    LinkStatus: machine.phase === 'off' ? 'LinkDown' : 'LinkUp',
  }),
  [paths.processors]: (machine) =>
    collection(
      paths.processors,
      'ProcessorCollection',
      processors(machine).map(({ Id }) => `${paths.processors}/${Id}`),
    ),
  [paths.logServices]: () => collection(paths.logServices, 'LogServiceCollection', [paths.log]),
  [paths.log]: () => ({
    ...resource(paths.log, '#LogService.v1_6_0.LogService', 'System Event Log'),
    LogEntryType: 'SEL',
    Entries: link(paths.logEntries),
  }),
  [paths.logEntries]: (machine) => {
    const logged = machine.faults.having('logged').map(({ effect }) => effect);
    return {
      ...collection(paths.logEntries, 'LogEntryCollection', []),
      'Members@odata.count': logged.length,
      Members: logged.map(({ severity, message, created }, index) => ({
        ...resource(`${paths.logEntries}/${index + 1}`, '#LogEntry.v1_16_0.LogEntry', 'Log entry'),
        EntryType: 'SEL',
        Severity: severity,
        Message: message,
        ...(created && { Created: created }),
      })),
    };
  },
  [paths.chassisAll]: () => collection(paths.chassisAll, 'ChassisCollection', [paths.chassis]),
  [paths.chassis]: (machine) => ({
    ...resource(paths.chassis, '#Chassis.v1_25_0.Chassis', machine.name),
    ChassisType: 'RackMount',
    SerialNumber: machine.identity.serialNumber,
    Location: { Placement: { Rack: machine.description.rack ?? '' } },
    Status: statusOf(machine),
    Power: link(paths.power),
    Thermal: link(paths.thermal),
    Links: { ComputerSystems: [link(paths.system)] },
  }),
  [paths.power]: (machine) => ({
    ...resource(paths.power, '#Power.v1_7_1.Power', 'Power'),
    PowerControl: [
      {
        ...link(`${paths.power}#/PowerControl/0`),
        MemberId: '0',
        Name: 'System Power Control',
        PowerConsumedWatts: machine.watts(),
        PowerCapacityWatts: machine.description.watts.max,
      },
    ],
    PowerSupplies: ['PSU 1', 'PSU 2'].map((name, index) =>
      part(machine, paths.power, 'PowerSupplies', name, index),
    ),
  }),
  [paths.thermal]: (machine) => ({
    ...resource(paths.thermal, '#Thermal.v1_7_1.Thermal', 'Thermal'),
    Temperatures: [
      {
        ...link(`${paths.thermal}#/Temperatures/0`),
        MemberId: '0',
        Name: 'Inlet Temp',
        PhysicalContext: 'Intake',
        ReadingCelsius: healthOf(machine).celsius,
        UpperThresholdCritical: 47,
        Status: { State: 'Enabled', Health: healthOf(machine).health },
      },
    ],
    Fans: ['Fan 1', 'Fan 2'].map((name, index) => part(machine, paths.thermal, 'Fans', name, index)),
  }),
  [paths.sessionService]: () => ({
    ...resource(paths.sessionService, '#SessionService.v1_1_9.SessionService', 'Sessions'),
    ServiceEnabled: true,
    Sessions: link(paths.sessions),
  }),
  [`${root}/TaskService`]: () => ({
    ...resource(`${root}/TaskService`, '#TaskService.v1_2_1.TaskService', 'Tasks'),
    ServiceEnabled: true,
    Tasks: link(paths.tasks),
  }),
};
