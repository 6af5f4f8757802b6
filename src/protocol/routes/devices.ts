import { defineRoutes } from "../route.ts"

/** Devices and the socket that they, and pages, are connected by. */
export const deviceRoutes = defineRoutes({
  openSocket: {
    method: "GET",
    path: "/api/ws",
    needs: "read",
    says: "A WebSocket: conversations, their events and devices over one connection. Its frames are in docs/socket.md.",
    answers: { 101: null },
  },
})
