/** Every key in the store. Other tools read them too: a change here is a change of the format. */
export const keys = {
  nodes: '/baremetal/nodes/',
  pools: '/baremetal/pools/',
  operations: '/baremetal/operations/',
  decisions: '/baremetal/decisions/',
  leases: '/baremetal/leases/',
  seen: '/baremetal/seen/',
  offers: '/baremetal/offers/',
  offer: (id: string) => `/baremetal/offers/${id}`,
  node: (id: string, part: 'spec' | 'status' | 'metrics' | 'events' | 'source') =>
    `/baremetal/nodes/${id}/${part}`,
  pool: (name: string, part: 'members' | 'config' | 'source' | 'target' | 'provider') =>
    `/baremetal/pools/${name}/${part}`,
  global: (
    part:
      | 'config'
      | 'stats'
      | 'source'
      | 'power-ons'
      | 'energy'
      | 'alerts'
      | 'triggers'
      | 'caption'
      | 'discovery'
      | 'peering-audit'
      | 'trend-minute'
      | 'trend-ten-minutes'
      | 'trend-hour',
  ) => `/baremetal/global/${part}`,
  peeringNonce: (cluster: string) => `/baremetal/global/peering-nonce-${cluster}`,
  needs: (pool: string) => `/baremetal/global/needs-${pool}`,
  pressures: '/baremetal/global/pressure-',
  pressure: (node: string) => `/baremetal/global/pressure-${node}`,
  operation: (id: string) => `/baremetal/operations/${id}`,
  decision: (id: string) => `/baremetal/decisions/${id}`,
  seenEvent: (id: string) => `/baremetal/seen/${id}`,
  lease: (name: string) => `/baremetal/leases/${name}`,
} as const;

/** The id and the part of a key under /baremetal/nodes/ or /baremetal/pools/. */
export function splitKey(key: string, prefix: string): { readonly id: string; readonly part: string } {
  const slash = key.lastIndexOf('/');
  return { id: key.slice(prefix.length, slash), part: key.slice(slash + 1) };
}
