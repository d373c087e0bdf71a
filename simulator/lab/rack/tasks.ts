import type { Answer } from './answer.ts';
import type { SimulatedMachine } from './machine.ts';
import { collection, paths } from './resources.ts';

/** Work a BMC has promised: a task to look at, and a monitor that answers 202 until it is done. */
export class Tasks {
  readonly #tasks: { done: boolean; readonly ends: string }[] = [];
  readonly #machine: SimulatedMachine;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
  }

  start({ ms, ends }: { ms: number; ends: string }): Answer {
    const task = { done: false, ends };
    const id = this.#tasks.push(task) - 1;
    this.#machine.later(ms, () => {
      task.done = true;
    });
    return this.#running(id);
  }

  /** undefined: there is no such task. */
  answer(path: string): Answer | undefined {
    if (path === paths.tasks) {
      const members = this.#tasks.map((_, id) => `${paths.tasks}/${id}`);
      return { status: 200, body: collection(paths.tasks, 'TaskCollection', members) };
    }
    const [, folder, id] = /^(.*)\/(\d+)$/.exec(path) ?? [];
    const task = this.#tasks[Number(id)];
    if (!task) return undefined;
    if (folder === paths.tasks) return { status: 200, body: this.#task(Number(id)) };
    if (folder !== paths.monitors) return undefined;
    return task.done ? { status: 200, body: this.#task(Number(id)) } : this.#running(Number(id));
  }

  #running(id: number): Answer {
    return {
      status: 202,
      headers: { Location: `${paths.monitors}/${id}`, 'Retry-After': '1' },
      body: this.#task(id),
    };
  }

  #task(id: number) {
    const { done = false, ends = '' } = this.#tasks[id] ?? {};
    return {
      '@odata.id': `${paths.tasks}/${id}`,
      '@odata.type': '#Task.v1_7_4.Task',
      Id: String(id),
      Name: 'Reset',
      TaskMonitor: `${paths.monitors}/${id}`,
      TaskState: done ? ends : 'Running',
      TaskStatus: done && ends === 'Exception' ? 'Critical' : 'OK',
    };
  }
}
