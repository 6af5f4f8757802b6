import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type RecordedRequest, read, type Wire } from "./read-request.ts"
import { tellCall, tellHalf, tellText } from "./tell.ts"

/** The model's first reply. All later ones end the task. */
export type Story = "asks-for-a-command" | "breaks-off"

/**
 * A local provider that speaks the three wire formats of terminal agents and records their requests. Minor requests
 * (titles, summaries, warm-ups) have no tools and are answered with a word.
 */
export class Provider {
  readonly asked: RecordedRequest[] = []
  story: Story = "asks-for-a-command"
  command = ""
  private readonly server = createServer((request, response) => void this.answer(request, response))
  private hasBegun = false
  private half = Promise.withResolvers<void>()

  static async open(): Promise<Provider> {
    const provider = new Provider()
    await new Promise<void>((resolve) => provider.server.listen(0, "127.0.0.1", resolve))
    return provider
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Resolves when half of a reply was sent and the rest is held back. */
  get brokenOff(): Promise<void> {
    return this.half.promise
  }

  begin(story: Story, command: string): void {
    Object.assign(this, { story, command, hasBegun: false })
    this.half = Promise.withResolvers<void>()
    this.asked.length = 0
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.url).pathname
    const wire = WIRES.find(([ending]) => path.endsWith(ending))?.[1]
    if (request.method !== "POST" || !wire) return void response.writeHead(404).end("{}")
    const body = JSON.parse(await bodyOf(request)) as Record<string, unknown>
    const asked = read(wire, body)
    if (asked.tools.length === 0) return tellText(response, wire, body, "Title")
    this.asked.push(asked)
    if (this.hasBegun) return tellText(response, wire, body, "All done.")
    this.hasBegun = true
    if (this.story === "asks-for-a-command")
      return tellCall(response, wire, body, { tools: asked.tools, command: this.command })
    tellHalf(response, wire, "One, two, three")
    this.half.resolve()
  }
}

const WIRES: readonly (readonly [string, Wire])[] = [
  ["/chat/completions", "completions"],
  ["/responses", "responses"],
  ["/messages", "messages"],
]

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
