import { once } from "node:events"
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { listen } from "../../../core/server/listen.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

test("a crowd of silent connections blocks no other client, and does not take the connection of a known user", async () => {
  const { url: store } = await databases[0]!.create()
  await using face = await Face.open({ url: store, model: scripted(always(says("ok"))) })
  const ada = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(ada, ["read"], Date.now())
  const place = { host: "127.0.0.1", port: 0, strangers: { each: 10, inAll: 10 } }
  const server = await listen((asked, env) => face.fetch(asked, env), place)
  const { port } = new URL(server.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const crowd: Socket[] = []
  try {
    const first = await get(server.url, agent, token)
    for (let n = 0; n < 30; n++) {
      const socket = connect(Number(port), "127.0.0.1")
      socket.on("error", () => {}) // the server has cut it
      crowd.push(socket)
      await once(socket, "connect")
    }
    // The server accepts connections in order: with the answer to one more, it has seen all of these.
    expect((await get(server.url, new Agent(), token)).status).toBe(200)
    const second = await get(server.url, agent, token)
    expect(second).toEqual({ ...first, reused: true })
    const left = crowd.filter((socket) => !socket.destroyed && !socket.readableEnded)
    const going = crowd.slice(0, 20).filter((socket) => !socket.destroyed)
    await Promise.all(going.map((socket) => once(socket.resume(), "close")))
    expect(left.length).toBeGreaterThan(0)
    expect(crowd.slice(0, 20).every((socket) => socket.destroyed)).toBe(true)
  } finally {
    for (const socket of crowd) socket.destroy()
    agent.destroy()
    await server.close(0)
  }
})

async function get(base: string, agent: Agent, token: string) {
  const asked = request(`${base}/api/auth/me`, { agent, headers: { authorization: `Bearer ${token}` } })
  asked.end()
  const [response] = await once(asked, "response")
  const { localPort } = response.socket
  response.resume()
  await once(response, "end")
  return {
    status: response.statusCode as number,
    port: localPort as number,
    reused: asked.reusedSocket,
  }
}
