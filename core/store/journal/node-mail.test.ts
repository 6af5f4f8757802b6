import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import type { NodeMessage } from "../../protocol/node-messages.ts"
import { openStore } from "../store.ts"
import { NodeMail } from "./node-mail.ts"
import { ThisNode } from "./nodes.ts"

describe.each(databases)("mail between nodes on $name", ({ create }) => {
  /** Two processes over one store, as far as mail is concerned. */
  const open = async () => {
    const database = await create()
    const clock = new TurnedClock()
    const store = await openStore({ url: database.url, clock, durability: "normal" })
    const { engine } = store
    const logged: string[] = []
    const note = (event: string) => void logged.push(event)
    const join = () => {
      const node = new ThisNode(engine, { clock })
      const mail = new NodeMail(engine, node, { clock, log: { info: note, warn: note, error: note } })
      const heard: [NodeMessage, string][] = []
      const leave = mail.subscribe((message, from) => heard.push([message, from]))
      return { node, mail, heard, leave }
    }
    const [one, two] = [join(), join()]
    await one.node.heartbeat()
    const waiting = async () => (await engine.query("SELECT 1 FROM node_mail", [])).length
    return {
      ...{ clock, engine, one, two, logged, waiting },
      async [Symbol.asyncDispose]() {
        for (const { mail } of [one, two]) await mail.close()
        await store[Symbol.asyncDispose]()
      },
    }
  }
  const stop = (id: string): NodeMessage => ({ type: "device_stop", id })

  test("is received once, by its recipient, in the order in which it was sent", async () => {
    await using nodes = await open()
    const { one, two, clock } = nodes
    for (const id of ["a", "b", "c"]) expect(await two.mail.send(one.mail.self, stop(id))).toBe(true)
    await clock.turn(750)
    await expect.poll(() => one.heard).toEqual(["a", "b", "c"].map((id) => [stop(id), two.mail.self]))
    await clock.turn(750)
    expect([await nodes.waiting(), one.heard.length, two.heard]).toEqual([0, 3, []])
  })

  test("is polled every 750 ms, and every 100 ms for a while after a message", async () => {
    await using nodes = await open()
    const { one, two, clock } = nodes
    await clock.turn(600)
    await two.mail.send(one.mail.self, stop("a"))
    await clock.turn(149)
    expect(one.heard).toEqual([])
    await clock.turn(1)
    await expect.poll(() => one.heard).toHaveLength(1)
    await one.mail.close() // what it was doing is over
    one.leave = one.mail.subscribe((message, from) => one.heard.push([message, from]))
    await two.mail.send(one.mail.self, stop("b"))
    await clock.turn(100)
    await expect.poll(() => one.heard).toHaveLength(2)
  })

  test("is refused for a node that is not alive, and deleted with its node", async () => {
    await using nodes = await open()
    const { one, two, engine } = nodes
    expect(await two.mail.send("node_gone", stop("a"))).toBe(false)
    expect(await two.mail.send(one.mail.self, stop("a"))).toBe(true)
    const gone = { sql: "DELETE FROM node WHERE id = ?", values: [one.mail.self] }
    await engine.change({ type: "statements", statements: [gone] })
    expect(await nodes.waiting()).toBe(0)
    expect(await two.mail.send(one.mail.self, stop("a"))).toBe(false)
  })

  test("a sender can be answered, because sending requires a heartbeat", async () => {
    await using nodes = await open()
    const { one, two } = nodes
    expect(await one.mail.send(two.mail.self, stop("a"))).toBe(false)
    await two.mail.send(one.mail.self, stop("a"))
    expect(await one.mail.send(two.mail.self, stop("a"))).toBe(true)
  })

  test("is limited in the size of a message and in the messages that wait for a node", async () => {
    await using nodes = await open()
    const { one, two, engine } = nodes
    const huge = {
      type: "device_taken",
      user: "user_1" as never,
      deviceId: "x".repeat(5_000_000),
      lineage: "l",
    } as const
    expect(await two.mail.send(one.mail.self, huge)).toBe(false)
    const sql = "INSERT INTO node_mail (addressee, sender, size, body) VALUES (?, 'node_x', ?, '{}')"
    const fill = (rows: number, size: number) =>
      engine.change({
        type: "statements",
        statements: Array.from({ length: rows }, () => ({ sql, values: [one.mail.self, size] })),
      })
    await fill(1999, 1)
    expect(await two.mail.send(one.mail.self, stop("a"))).toBe(true)
    expect(await two.mail.send(one.mail.self, stop("b"))).toBe(false)
    await engine.change({ type: "statements", statements: [{ sql: "DELETE FROM node_mail", values: [] }] })
    await fill(1, 64 * 1024 * 1024)
    expect(await two.mail.send(one.mail.self, stop("c"))).toBe(false)
  })

  test("that this version cannot read is ignored, and the next message is handled", async () => {
    await using nodes = await open()
    const { one, two, engine, clock, logged } = nodes
    const sql = "INSERT INTO node_mail (addressee, sender, size, body) VALUES (?, 'node_x', 1, ?)"
    const odd = ["not even JSON", '{"type":"of_next_year"}'].map((body) => ({ sql, values: [one.mail.self, body] }))
    await engine.change({ type: "statements", statements: odd })
    await two.mail.send(one.mail.self, stop("a"))
    await clock.turn(750)
    await expect.poll(() => one.heard).toHaveLength(1)
    expect(logged).toEqual(["node_message_not_understood", "node_message_not_understood"])
  })
})
