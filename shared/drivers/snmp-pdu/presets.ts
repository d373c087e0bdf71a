/** The OIDs that switch an outlet. {outlet} is replaced; the rest is digits. */
export interface Outlet {
  /** What stands before the number of an outlet in its index, on a device that stands alone. */
  readonly within?: string | undefined;
  readonly status: { readonly oid: string; readonly on: readonly number[]; readonly off: readonly number[] };
  readonly on: { readonly oid: string; readonly value: number };
  readonly off: { readonly oid: string; readonly value: number };
}

const enterprises = '1.3.6.1.4.1';

/** One object that is read and written. */
const single = (object: string, on: number, off: number): Outlet => {
  const oid = `${enterprises}.${object}`;
  return { status: { oid, on: [on], off: [off] }, on: { oid, value: on }, off: { oid, value: off } };
};

/** One object to read, one to write. */
const pair = (
  [status, on, off]: readonly [string, number, number],
  [command, switchOn, switchOff]: readonly [string, number, number],
  within?: string,
): Outlet => ({
  within,
  status: { oid: `${enterprises}.${status}`, on: [on], off: [off] },
  on: { oid: `${enterprises}.${command}`, value: switchOn },
  off: { oid: `${enterprises}.${command}`, value: switchOff },
});

/** From the makers' MIBs. A state in between (pending, rebooting …) is in neither list, so it is unknown. */
export const presets = {
  /** PowerNet-MIB: rPDUOutletControlOutletCommand. */
  apc: single('318.1.1.12.3.3.1.1.4.{outlet}', 1, 2),
  /** PowerNet-MIB: rPDU2OutletSwitchedStatusState, rPDU2OutletSwitchedControlCommand. */
  'apc-rpdu2': pair(['318.1.1.26.9.2.3.1.5.{outlet}', 2, 1], ['318.1.1.26.9.2.4.1.5.{outlet}', 1, 2]),
  /** PowerNet-MIB: sPDUOutletCtl. */
  'apc-masterswitch': single('318.1.1.4.4.2.1.3.{outlet}', 1, 2),
  /** PDU2-MIB: outletSwitchingState, outletSwitchingOperation. */
  raritan: pair(['13742.6.4.1.2.1.3.{outlet}', 7, 8], ['13742.6.4.1.2.1.2.{outlet}', 1, 0], '1'),
  /** EATON-EPDU-MIB: outletControlStatus; what is written to the commands is a delay in seconds. */
  eaton: {
    within: '0',
    status: { oid: `${enterprises}.534.6.6.7.6.6.1.2.{outlet}`, on: [1], off: [0] },
    on: { oid: `${enterprises}.534.6.6.7.6.6.1.4.{outlet}`, value: 0 },
    off: { oid: `${enterprises}.534.6.6.7.6.6.1.3.{outlet}`, value: 0 },
  },
  /** CPS-MIB: ePDUOutletControlOutletCommand. */
  cyberpower: single('3808.1.1.3.3.3.1.1.4.{outlet}', 1, 2),
  /** Sentry3-MIB: outletStatus, outletControlAction; the index is tower.infeed.outlet. */
  'servertech-sentry3': pair(['1718.3.2.3.1.5.{outlet}', 1, 0], ['1718.3.2.3.1.11.{outlet}', 1, 2], '1.1'),
  /** Sentry4-MIB: st4OutletState, st4OutletControlAction; the index is unit.cord.outlet. */
  'servertech-sentry4': pair(['1718.4.1.8.3.1.1.{outlet}', 1, 0], ['1718.4.1.8.5.1.2.{outlet}', 1, 2], '1.1'),
  /** ATEN-PE-CFG: outletControl. */
  aten: single('21317.1.3.2.2.2.2.{outlet}.0', 2, 1),
} as const satisfies Record<string, Outlet>;

export const presetNames = Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]];
