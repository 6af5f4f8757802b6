import { type Calls, createCalls } from "./calls.ts"
import { overSse } from "./stream/over-sse.ts"
import { createStreams, type ClientStreams } from "./stream/streams.ts"
import { type ClientOptions, Transport } from "./transport.ts"

/** Pawl's server as typed methods: one for each route that answers once, and the streams. */
export type Client = Calls & ClientStreams

export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  return { ...createCalls(transport), ...createStreams(overSse(transport)) }
}
