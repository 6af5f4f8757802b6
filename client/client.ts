import { type Calls, createCalls } from "./calls.ts"
import { overSse } from "./stream/over-sse.ts"
import { createStreams, type ClientStreams } from "./stream/streams.ts"
import { type ClientOptions, Transport } from "./transport.ts"

/** The API as typed methods: one for each route that returns a single response, and the streams. */
export type Client = Calls & ClientStreams

/**
 * Creates a client of the HTTP API. Streams use server-sent events, one connection each.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:7295", token: "…", fetch: async () => Response.json({ ok: true }) })
 * console.log(typeof client.createConversation) // function
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  return { ...createCalls(transport), ...createStreams(overSse(transport)) }
}
