import { request } from "node:http"

/** The answer to what is posted, over a connection of its own: one that is kept may be closed by the server just then. */
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
