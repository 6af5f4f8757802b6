import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"
import { Visitor } from "../../support/server/face.ts"
import { isGenuine, Receiver } from "../../support/server/receiver.ts"

/** A server whose clock is ahead: by then the killed server's delivery attempt has expired. */
const AHEAD = "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+20_000"

test("a server that is killed between two attempts delivers by itself after its next start", async () => {
  await using receiver = await Receiver.open((response, count) => response.writeHead(count <= 2 ? 500 : 200).end())
  const secret = "a secret of thirty characters."
  const environment = {
    PAWL_DATA: dataFolder(),
    PAWL_PORT: "0",
    PAWL_WEBHOOK_URL: receiver.url,
    PAWL_WEBHOOK_SECRET: secret,
  }
  const token = await tokenFor(environment)
  await using first = new PawlProcess(["serve"], environment)
  const [, url] = await first.says(/listening on (\S+)\n/)
  const ada = new Visitor(fetch, token, url)
  const id = await ada.begin()
  expect((await ada.say(id, "add a task: buy milk")).body.run.status).toBe("paused")
  await receiver.called(1)
  await first.kill("SIGKILL")
  await using second = new PawlProcess(["serve"], { ...environment, NODE_OPTIONS: AHEAD })
  await receiver.called(3)
  expect(receiver.calls.map((call) => [call.body.conversationId, isGenuine(call, secret, Date.now())])).toEqual([
    [id, true],
    [id, true],
    [id, true],
  ])
  expect(second.child.exitCode).toBe(null)
})
