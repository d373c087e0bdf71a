/**
 * The parameters of the calls we make, as Proxmox VE's published API schema has them: it refuses whatever is
 * not in there. `netN` stands for net0, net1 …
 */
interface Parameter {
  readonly type: 'integer' | 'boolean' | 'string';
  readonly required?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
  readonly values?: readonly string[];
}

const text: Parameter = { type: 'string' };
const flag: Parameter = { type: 'boolean' };
const vmid: Parameter = { type: 'integer', minimum: 100, maximum: 999_999_999, required: true };
const hostName: Parameter = {
  type: 'string',
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9-]+)*$/i,
};
const seconds: Parameter = { type: 'integer', minimum: 0 };

const config = {
  agent: text,
  balloon: { type: 'integer', minimum: 0 },
  bios: { type: 'string', values: ['seabios', 'ovmf'] },
  boot: text,
  cicustom: text,
  citype: { type: 'string', values: ['configdrive2', 'nocloud', 'opennebula'] },
  ciuser: text,
  cores: { type: 'integer', minimum: 1 },
  cpu: text,
  description: { type: 'string', pattern: /^[\s\S]{0,8192}$/ },
  ideN: text,
  ipconfigN: text,
  machine: text,
  memory: { type: 'integer', minimum: 16 },
  name: hostName,
  netN: {
    type: 'string',
    pattern: /^(virtio|e1000|rtl8139|vmxnet3)=([0-9A-F]{2}:){5}[0-9A-F]{2}(,bridge=\w+)?(,tag=\d{1,4})?$/,
  },
  numa: flag,
  onboot: flag,
  ostype: { type: 'string', values: ['other', 'l24', 'l26', 'solaris', 'win10', 'win11'] },
  protection: flag,
  scsihw: { type: 'string', values: ['lsi', 'virtio-scsi-pci', 'virtio-scsi-single', 'megasas', 'pvscsi'] },
  scsiN: text,
  serialN: text,
  smbios1: text,
  sockets: { type: 'integer', minimum: 1 },
  tags: { type: 'string', pattern: /^[a-z0-9_][a-z0-9_\-+.]*([;, ][a-z0-9_][a-z0-9_\-+.]*)*$/i },
  vga: text,
  virtioN: text,
} as const satisfies Record<string, Parameter>;

export const schemas: Readonly<Record<string, Readonly<Record<string, Parameter>>>> = {
  'GET /cluster/resources': { type: { type: 'string', values: ['vm', 'storage', 'node', 'sdn'] } },
  'GET /nodes/{node}/qemu/{vmid}/config': { current: flag, snapshot: text },
  'PUT /nodes/{node}/qemu/{vmid}/config': config,
  'GET /nodes/{node}/qemu/{vmid}/status/current': {},
  'GET /nodes/{node}/tasks/{upid}/status': {},
  'POST /nodes/{node}/qemu': { ...config, vmid, pool: text, storage: text, start: flag, unique: flag },
  'POST /nodes/{node}/qemu/{vmid}/clone': {
    newid: vmid,
    description: config.description,
    format: { type: 'string', values: ['raw', 'qcow2', 'vmdk'] },
    full: flag,
    name: hostName,
    pool: text,
    storage: text,
    target: hostName,
  },
  'POST /nodes/{node}/qemu/{vmid}/status/start': { timeout: seconds, machine: text },
  'POST /nodes/{node}/qemu/{vmid}/status/shutdown': { forceStop: flag, keepActive: flag, timeout: seconds },
  'POST /nodes/{node}/qemu/{vmid}/status/stop': {
    'overrule-shutdown': flag,
    keepActive: flag,
    timeout: seconds,
  },
  'DELETE /nodes/{node}/qemu/{vmid}': { 'destroy-unreferenced-disks': flag, purge: flag },
};

/** What Proxmox would say of these parameters, by name; nothing when they are right. */
export function verify(call: string, given: Readonly<Record<string, string>>): Record<string, string> {
  const schema = schemas[call] ?? {};
  const errors: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const parameter = schema[name] ?? schema[name.replace(/\d+$/, 'N')];
    const wrong = parameter
      ? problemOf(parameter, value)
      : 'property is not defined in schema and the schema does not allow additional properties';
    if (wrong) errors[name] = wrong;
  }
  for (const [name, { required }] of Object.entries(schema))
    if (required && given[name] === undefined) errors[name] = 'property is missing and it is not optional';
  return errors;
}

function problemOf(
  { type, minimum, maximum, pattern, values }: Parameter,
  value: string,
): string | undefined {
  if (type === 'boolean') return /^[01]$/.test(value) ? undefined : 'type check (boolean) failed';
  if (type === 'integer' && !/^-?\d+$/.test(value)) return 'type check (integer) failed';
  if (minimum !== undefined && Number(value) < minimum)
    return `value must have a minimum value of ${minimum}`;
  if (maximum !== undefined && Number(value) > maximum)
    return `value must have a maximum value of ${maximum}`;
  if (values && !values.includes(value)) return `value '${value}' does not have a value in the enumeration`;
  if (pattern && !pattern.test(value)) return 'value does not match the regex pattern';
  return undefined;
}
