import { hasNats, NatsServer } from "../../test/support/processes/nats-server.ts"

/** Undefined if nats-server is installed; otherwise the reason why workloads that need it are skipped. */
export const noNats: string | undefined = hasNats ? undefined : "no nats-server on this machine"

export const startNats = (): Promise<NatsServer> => NatsServer.start()
