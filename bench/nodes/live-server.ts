import { spawn } from "node:child_process"
import { once } from "node:events"

/** `pawl serve` in its own process, used by one person. */
export interface LiveServer extends AsyncDisposable {
  readonly url: string
  ask(method: string, path: string, given?: Asked): Promise<Record<string, unknown>>
  /** Watches a conversation from now on. */
  watch(id: string, token?: string): Promise<Watch>
}

interface Asked {
  readonly body?: object
  readonly headers?: Record<string, string>
}

export interface Watch {
  /** Resolves to the time at which this text arrived. */
  sees(words: string): Promise<number>
  /** The time at which the stream ended. */
  readonly endedAt: Promise<number>
  close(): void
}

export async function startServer(
  launcher: string,
  environment: Record<string, string>,
  token: string,
): Promise<LiveServer> {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, [launcher, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] })
  const stop = () => void child.kill("SIGKILL")
  process.on("exit", stop)
  const ended = once(child, "close").finally(() => process.off("exit", stop))
  let said = ""
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (text: Buffer) => {
      said = (said + text.toString()).slice(-4000)
      const found = /listening on (\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on("data", hear)
    child.stderr.on("data", hear)
    void ended.then(() => reject(new Error(said)))
  })
  const authorization = `Bearer ${token}`
  return {
    url,
    async ask(method, path, { body, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization, accept: "application/json", "content-type": "application/json", ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
      return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>
    },
    watch: (id, as = token) => watch(`${url}/api/conversations/${id}/events`, as),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      await ended
    },
  }
}

async function watch(url: string, token: string): Promise<Watch> {
  const leaving = new AbortController()
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: leaving.signal })
  if (response.status !== 200 || !response.body) throw new Error(`${url} answered ${response.status}`)
  const ended = Promise.withResolvers<number>()
  const wanted: { words: string; seen: (at: number) => void }[] = []
  let text = ""
  const look = () => {
    for (const each of wanted) if (text.includes(each.words)) each.seen(performance.now())
  }
  const reading = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      look()
    }
  }
  void reading(response.body)
    .catch(() => {})
    .then(() => ended.resolve(performance.now()))
  return {
    sees: (words) =>
      new Promise((seen) => {
        wanted.push({ words, seen })
        look()
      }),
    endedAt: ended.promise,
    close: () => leaving.abort(),
  }
}
