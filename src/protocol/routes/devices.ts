import { z } from "zod"
import { pageOf } from "../answers.ts"
import { defineRoutes } from "../route.ts"

/** A device that is connected now. */
export const DeviceView = z.object({
  deviceId: z.string(),
  ledger: z.boolean(),
  offers: z.array(z.string()),
  connectedAt: z.string(),
})
export type DeviceView = z.infer<typeof DeviceView>

/** Devices and the socket that they, and pages, are connected by. */
export const deviceRoutes = defineRoutes({
  openSocket: {
    method: "GET",
    path: "/api/ws",
    needs: "read",
    says: "A WebSocket: conversations, their events and devices over one connection. Its frames are in docs/socket.md.",
    answers: { 101: null },
  },
  listDevices: {
    method: "GET",
    path: "/api/devices",
    needs: "read",
    says: "Your devices that are connected to this server, the newest first.",
    answers: { 200: pageOf(DeviceView) },
  },
})
