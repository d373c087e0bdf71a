import type { z } from 'zod';
import type { Calls } from './call-schema.ts';

interface Preset {
  /** Authentication of this kind of device. */
  readonly auth?: 'basic' | 'digest' | 'bearer';
  /** The number of the first relay. */
  readonly firstChannel: number;
  readonly calls: z.input<typeof Calls>;
}

/** Devices and their published calls. All cut the power: who can shut a machine down gently adds `softOff`. */
export const presets = {
  /** Second generation and later: RPC over HTTP, digest authentication as user admin. */
  shelly: {
    auth: 'digest',
    firstChannel: 0,
    calls: {
      on: { method: 'GET', path: '/rpc/Switch.Set?id={{channel}}&on=true' },
      off: { method: 'GET', path: '/rpc/Switch.Set?id={{channel}}&on=false' },
      status: {
        path: '/rpc/Switch.GetStatus?id={{channel}}',
        pointer: '/output',
        on: [true],
        off: [false],
      },
    },
  },
  'shelly-gen1': {
    auth: 'basic',
    firstChannel: 0,
    calls: {
      on: {
        method: 'GET',
        path: '/relay/{{channel}}?turn=on',
        expect: { pointer: '/ison', values: [true] },
      },
      off: {
        method: 'GET',
        path: '/relay/{{channel}}?turn=off',
        expect: { pointer: '/ison', values: [false] },
      },
      status: { path: '/relay/{{channel}}', pointer: '/ison', on: [true], off: [false] },
    },
  },
  /**
   * Errors are answered with 200 too, so the body is checked. With one relay it is POWER, without a number.
   */
  tasmota: {
    auth: 'basic',
    firstChannel: 1,
    calls: {
      on: {
        method: 'GET',
        path: '/cm?cmnd=Power{{channel}}%20On',
        expect: { pointer: ['/POWER{{channel}}', '/POWER'], values: ['ON'] },
      },
      off: {
        method: 'GET',
        path: '/cm?cmnd=Power{{channel}}%20Off',
        expect: { pointer: ['/POWER{{channel}}', '/POWER'], values: ['OFF'] },
      },
      status: {
        path: '/cm?cmnd=Power{{channel}}',
        pointer: ['/POWER{{channel}}', '/POWER'],
        on: ['ON'],
        off: ['OFF'],
      },
    },
  },
  /** `unavailable` and `unknown` are neither on nor off. */
  'home-assistant': {
    auth: 'bearer',
    firstChannel: 0,
    calls: {
      on: { path: '/api/services/homeassistant/turn_on', body: { entity_id: '{{entity}}' } },
      off: { path: '/api/services/homeassistant/turn_off', body: { entity_id: '{{entity}}' } },
      status: { path: '/api/states/{{entity}}', pointer: '/state', on: ['on'], off: ['off'] },
    },
  },
} as const satisfies Record<string, Preset>;

export const presetNames = Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]];
