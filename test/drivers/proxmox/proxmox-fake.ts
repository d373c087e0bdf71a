import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { schemas, verify } from './proxmox-schema.ts';

interface Vm {
  vmid: number;
  node: string;
  running: boolean;
  paused: boolean;
  template: boolean;
  /** Its name and tags are not in the list of resources yet, as in the first seconds of a real one. */
  fresh: boolean;
  lock: string | undefined;
  config: Record<string, string>;
}

interface Task {
  finish: () => string;
  exit: string | undefined;
}

const token = 'bamel@pve!scaler=canary-9f3c';

/** A strict Proxmox VE: knows the published parameters and no other, works in tasks, and loses what it is told to. */
export class ProxmoxFake {
  readonly vms = new Map<number, Vm>();
  readonly calls: string[] = [];
  readonly hosts = new Map([
    ['pve1', { status: 'online', mem: 8 * 2 ** 30, maxmem: 64 * 2 ** 30 }],
    ['pve2', { status: 'online', mem: 8 * 2 ** 30, maxmem: 32 * 2 ** 30 }],
    ['pve3', { status: 'offline', mem: 0, maxmem: 256 * 2 ** 30 }],
  ]);
  /** Tasks stay running until told otherwise. */
  slowTasks = false;
  failTasks: string | undefined;
  /** The guest does not react to a shutdown. */
  deafGuests = false;
  /** Takes the request, does it, and never answers: by call. */
  readonly mute = new Set<string>();
  /** Its token lacks the permission for these calls. */
  readonly forbidden = new Set<string>();
  /** Reads what it is sent and answers nothing. */
  silent = false;
  token = token;
  url = '';
  readonly #tasks = new Map<string, Task>();
  #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  add(vmid: number, node: string, more: Partial<Vm> = {}): Vm {
    const vm: Vm = {
      vmid,
      node,
      running: false,
      paused: false,
      template: false,
      fresh: false,
      lock: undefined,
      config: {},
      ...more,
    };
    this.vms.set(vmid, vm);
    return vm;
  }

  finishTasks(): void {
    for (const task of this.#tasks.values()) task.exit ??= task.finish();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://fake');
    const path = decodeURIComponent(url.pathname).replace(/^\/api2\/json/, '');
    const { call, at } = callOf(`${request.method} ${path}`);
    const parameters = Object.fromEntries([
      ...url.searchParams,
      ...new URLSearchParams(Buffer.concat(chunks).toString()),
    ]);
    this.calls.push(call);
    if (this.silent) return;
    const reply = (status: number, body: object): void => {
      if (this.mute.has(call)) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `PVEAPIToken=${this.token}`)
      return reply(401, { data: null, message: 'no such token' });
    if (this.forbidden.has(call)) return reply(403, { data: null, message: 'Permission check failed' });
    if (!schemas[call]) return reply(501, { data: null, message: `Method '${call}' not implemented` });
    const errors = verify(call, parameters);
    if (Object.keys(errors).length > 0)
      return reply(400, { data: null, errors, message: 'Parameter verification failed.\n' });
    try {
      reply(200, { data: this.#do(call, at, parameters) });
    } catch (error) {
      reply(500, { data: null, message: `${(error as Error).message}\n` });
    }
  }

  #do(call: string, at: Record<string, string>, parameters: Record<string, string>): unknown {
    const vm = at.vmid ? this.#vm(Number(at.vmid), at.node ?? '') : undefined;
    switch (call) {
      case 'GET /cluster/resources':
        return parameters.type === 'node' ? this.#hostList() : this.#vmList();
      case 'GET /nodes/{node}/tasks/{upid}/status': {
        const task = this.#tasks.get(at.upid ?? '');
        if (!task) throw new Error('no such task');
        if (!this.slowTasks) task.exit ??= task.finish();
        return task.exit === undefined ? { status: 'running' } : { status: 'stopped', exitstatus: task.exit };
      }
      case 'POST /nodes/{node}/qemu': {
        const vmid = Number(parameters.vmid);
        if (this.vms.has(vmid)) throw new Error(`unable to create VM ${vmid} - VM ${vmid} already exists`);
        const { vmid: _, ...config } = parameters;
        const made = this.add(vmid, at.node ?? '', { fresh: true, lock: 'create', config });
        return this.#task(at.node, 'qmcreate', () => {
          made.lock = undefined;
        });
      }
      case 'POST /nodes/{node}/qemu/{vmid}/clone': {
        const newid = Number(parameters.newid);
        if (this.vms.has(newid)) throw new Error(`unable to create VM ${newid} - VM ${newid} already exists`);
        const { name = '', description = '', target = vm?.node ?? '' } = parameters;
        const { tags: _, ...config } = vm?.config ?? {};
        const made = this.add(newid, target, {
          fresh: true,
          lock: 'clone',
          config: { ...config, name, description },
        });
        return this.#task(at.node, 'qmclone', () => {
          made.lock = undefined;
        });
      }
    }
    if (!vm) throw new Error(`nobody does ${call}`);
    if (call.startsWith('GET'))
      return call.endsWith('/config')
        ? { ...vm.config, ...(vm.lock && { lock: vm.lock }), digest: 'da39a3ee' }
        : {
            status: vm.running ? 'running' : 'stopped',
            qmpstatus: vm.paused ? 'paused' : vm.running ? 'running' : 'stopped',
            vmid: vm.vmid,
          };
    if (vm.lock) throw new Error(`VM is locked (${vm.lock})`);
    switch (call) {
      case 'PUT /nodes/{node}/qemu/{vmid}/config':
        Object.assign(vm.config, parameters);
        return null;
      case 'POST /nodes/{node}/qemu/{vmid}/status/start':
        if (vm.running) throw new Error(`VM ${vm.vmid} already running`);
        return this.#task(vm.node, 'qmstart', () => {
          vm.running = true;
        });
      case 'POST /nodes/{node}/qemu/{vmid}/status/shutdown':
        if (vm.paused) throw new Error(`VM ${vm.vmid} is paused - cannot shutdown`);
        return this.#task(vm.node, 'qmshutdown', () => {
          if (this.deafGuests) return 'VM quit/powerdown failed - got timeout';
          vm.running = false;
          return undefined;
        });
      case 'POST /nodes/{node}/qemu/{vmid}/status/stop':
        return this.#task(vm.node, 'qmstop', () => {
          vm.running = false;
          vm.paused = false;
        });
      case 'DELETE /nodes/{node}/qemu/{vmid}':
        if (vm.running) throw new Error(`VM ${vm.vmid} is running - destroy failed`);
        return this.#task(vm.node, 'qmdestroy', () => {
          this.vms.delete(vm.vmid);
        });
      default:
        throw new Error(`nobody does ${call}`);
    }
  }

  #vm(vmid: number, node: string): Vm {
    const vm = this.vms.get(vmid);
    if (vm?.node === node) return vm;
    throw new Error(`Configuration file 'nodes/${node}/qemu-server/${vmid}.conf' does not exist`);
  }

  #task(node: string | undefined, kind: string, work: () => string | undefined | undefined): string {
    const number = (this.#tasks.size + 1).toString(16).toUpperCase().padStart(8, '0');
    const upid = `UPID:${node}:${number}:0000AAAA:6553F100:${kind}:100:bamel@pve!scaler:`;
    const failure = this.failTasks;
    this.#tasks.set(upid, { finish: () => failure ?? (work() || 'OK'), exit: undefined });
    // What nobody asks about happens all the same.
    if (this.mute.size > 0) this.finishTasks();
    return upid;
  }

  #hostList(): object[] {
    return [...this.hosts].map(([node, host]) => ({ id: `node/${node}`, type: 'node', node, ...host }));
  }

  #vmList(): object[] {
    return [...this.vms.values()].map(({ vmid, node, running, template, fresh, config }) => ({
      id: `qemu/${vmid}`,
      type: 'qemu',
      vmid,
      node,
      status: running ? 'running' : 'stopped',
      template: Number(template),
      ...(!fresh && { name: config.name, tags: config.tags }),
    }));
  }
}

/** `GET /nodes/pve1/qemu/120/config` → `GET /nodes/{node}/qemu/{vmid}/config`, node pve1, vmid 120. */
function callOf(asked: string): { call: string; at: Record<string, string> } {
  for (const call of Object.keys(schemas)) {
    const pattern = call.replace(/\{(\w+)\}/g, (_, name) => `(?<${name}>[^/]+)`);
    const match = new RegExp(`^${pattern}$`).exec(asked);
    if (match) return { call, at: { ...match.groups } };
  }
  return { call: asked, at: {} };
}
