import { failure } from "../../protocol/errors.ts"

type Fetch = typeof globalThis.fetch

/**
 * A `fetch` whose answers end after so many bytes, whatever their server says they hold: what is longer breaks off, and with
 * it the call that it belongs to.
 */
export function boundedFetch(fetch: Fetch, mostBytes: number): Fetch {
  return async (input, init) => {
    const { body } = init ?? {}
    const response = await fetch(input, {
      ...init,
      // Forms are sent as the text that they are.
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
    })
    const { status, statusText, headers } = response
    if (!response.body) return response
    return new Response(response.body.pipeThrough(upTo(mostBytes)), { status, statusText, headers })
  }
}

function upTo(mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes <= mostBytes) return controller.enqueue(chunk)
      controller.error(failure("mcp_server_failed", { problem: `it answered with more than ${mostBytes} bytes` }))
    },
  })
}
