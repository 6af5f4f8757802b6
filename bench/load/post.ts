import { request } from "node:http"

/** Sends a POST over a new connection: the server may close a reused one at that moment. Returns the answer. */
export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: "POST", agent: false, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (piece: string) => (text += piece))
      response.on("error", reject)
      response.on("end", () => {
        if (response.statusCode && response.statusCode < 300) resolve(text)
        else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 500)}`))
      })
    })
    sending.on("error", reject)
    sending.end(body)
  })
}
