import { SettingsError } from '../../shared/process/flags.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import type { ProviderOptions } from './server.ts';

const loopback = ['127.0.0.1', '::1', 'localhost'];

/** How to serve the Cluster Autoscaler, as the settings say; undefined: not at all. */
export function providerOptions(settings: ProcessSettings): ProviderOptions | undefined {
  const { host, grpcPort, grpcCert, grpcKey, grpcCa, grpcOptions, kWhPrice, insecure } = settings;
  if (grpcPort === undefined) return undefined;
  if ((grpcCert === undefined) !== (grpcKey === undefined))
    throw new SettingsError('--grpc-cert and --grpc-key belong together: give both');
  if (grpcCa !== undefined && grpcCert === undefined)
    throw new SettingsError('--grpc-ca needs --grpc-cert and --grpc-key');
  if (!loopback.includes(host) && grpcCa === undefined && !insecure)
    throw new SettingsError(
      `who reaches ${host} could power machines on and off: give --grpc-cert, --grpc-key and --grpc-ca, or --insecure where the network itself is trusted`,
    );
  return {
    host,
    port: grpcPort,
    options: grpcOptions ?? false,
    kWhPrice,
    ...(grpcCert !== undefined &&
      grpcKey !== undefined && { tls: { cert: grpcCert, key: grpcKey, ca: grpcCa } }),
  };
}
