import { get, type IncomingMessage } from "node:http"

/** Watches a stream of events. Resolves when connected; `text` resolves to its text when the run is done. */
export async function watchText(
  url: string,
  headers: Record<string, string>,
): Promise<{ readonly text: Promise<string> }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on("error", reject)
  })
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
  const over = Promise.withResolvers<string>()
  const connected = Promise.withResolvers<void>()
  let [seen, rest] = ["", ""]
  response.setEncoding("utf8")
  response.on("data", (text: string) => {
    connected.resolve()
    const frames = (rest + text).split("\n\n")
    rest = frames.pop() ?? ""
    for (const frame of frames) {
      const data = /^event: text_delta\ndata: (.*)$/m.exec(frame)?.[1]
      if (data !== undefined) seen += (JSON.parse(data) as { text: string }).text
      if (/^event: done$/m.test(frame)) {
        over.resolve(seen)
        response.destroy()
      }
    }
  })
  response.on("error", () => {})
  response.on("close", () => over.reject(new Error(`${url} ended before the run did`)))
  over.promise.catch(() => {}) // reported to the caller that awaits it
  await connected.promise
  return { text: over.promise }
}
