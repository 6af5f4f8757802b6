import { hasNats, NatsServer } from "../../test/support/processes/nats-server.ts"

/** Undefined where there is a nats-server; otherwise why what needs one is left out. */
export const noNats: string | undefined = hasNats ? undefined : "no nats-server on this machine"

export const startNats = (): Promise<NatsServer> => NatsServer.start()
