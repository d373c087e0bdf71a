/** What a BMC sends back, before it is written to the wire. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

/** An error as Redfish words it: one code, one message, the details beside it. */
export function redfishError(status: number, messageId: string, message: string): Answer {
  // A maker's own message has its registry in it.
  const code = messageId.includes('.') ? messageId : `Base.1.18.${messageId}`;
  return {
    status,
    body: {
      error: {
        code,
        message,
        '@Message.ExtendedInfo': [
          {
            '@odata.type': '#Message.v1_1_2.Message',
            MessageId: code,
            Message: message,
            Severity: 'Warning',
          },
        ],
      },
    },
  };
}
