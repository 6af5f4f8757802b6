import type { Context, Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { type DeviceRequestId, isId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { AccountPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Which devices are there, and which credentials ask to be one that is another's. */
export function deviceRoutes(app: Hono<Env>, { devices, deviceOwners }: AccountPorts): void {
  serveRoute(app, routes.listDevices, async (c) => {
    const items = (await devices.of(userOf(c))).flatMap(({ introduced, connectedAt }) => {
      if (!introduced) return []
      const { deviceId, ledger, offers } = introduced
      return [{ deviceId, ledger, offers: [...offers], connectedAt: new Date(connectedAt).toISOString() }]
    })
    return { items, nextCursor: null }
  })

  serveRoute(app, routes.listDeviceRequests, async (c) => ({
    items: await deviceOwners.requests(userOf(c)),
    nextCursor: null,
  }))

  serveRoute(app, routes.allowDeviceRequest, async (c) => {
    const { person, credential } = c.get("caller")
    const { name, lineage } = await deviceOwners.allow(person.id, requestOf(c), credential)
    await devices.taken(person.id, name, lineage)
    return null
  })

  serveRoute(app, routes.refuseDeviceRequest, async (c) => {
    await deviceOwners.refuse(userOf(c), requestOf(c))
    return null
  })
}

function requestOf(c: Context<Env>): DeviceRequestId {
  const id = c.req.param("id") ?? ""
  if (!isId("dreq", id)) throw failure("not_found")
  return id
}
