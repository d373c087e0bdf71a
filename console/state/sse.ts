export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes a stream of server-sent events in whatever pieces it arrives. Comments keep the connection alive, no more. */
export function createSseParser(onEvent: (event: ServerEvent) => void): (piece: string) => void {
  let rest = '';
  return (piece) => {
    const blocks = `${rest}${piece}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
      const field = (name: string) => fields.filter((one) => one?.[1] === name).map((one) => one?.[2] ?? '');
      const data = field('data');
      if (data.length > 0) onEvent({ event: field('event')[0] ?? 'message', data: data.join('\n') });
    }
  };
}
