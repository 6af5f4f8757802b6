import { z } from "zod"
import { pageOf } from "../../answers.ts"
import { defineRoutes } from "../route.ts"
import { DeviceRequest } from "../../account/sign-in.ts"
import { lazily } from "../../lazily.ts"

/** A device that is connected now. */
export const DeviceView = lazily(() =>
  z.object({
    deviceId: z.string(),
    ledger: z.boolean(),
    offers: z.array(z.string()),
    connectedAt: z.string(),
  }),
)
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
  listDeviceRequests: {
    method: "GET",
    path: "/api/devices/requests",
    needs: "read",
    says: "Credentials of yours that ask to be a device which another one is, the newest first.",
    answers: { 200: pageOf(DeviceRequest) },
  },
  allowDeviceRequest: {
    method: "POST",
    path: "/api/devices/requests/{id}/allow",
    needs: "manage",
    says: "Makes the credential that asks the device; the former one is told, and is asked nothing more. No token allows itself.",
    answers: { 204: null },
  },
  refuseDeviceRequest: {
    method: "DELETE",
    path: "/api/devices/requests/{id}",
    needs: "manage",
    says: "Refuses a credential that asks to be a device.",
    answers: { 204: null },
  },
})
