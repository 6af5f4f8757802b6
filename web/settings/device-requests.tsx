import { Key } from "../icons/things.ts"
import type { DeviceRequest } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { time } from "../parts/words.ts"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { Part, Things } from "../parts/part.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"

/** Credentials that want to be a device which another one is. Nothing is shown while there are none. */
export function DeviceRequests() {
  const { value, reload, trouble } = useLoaded(() => client.listDeviceRequests())
  if (!trouble && (value?.items.length ?? 0) === 0) return undefined
  const allow = ({ id, deviceId }: DeviceRequest) =>
    attempt(async () => {
      await client.allowDeviceRequest({ params: { id } })
      toast(`Allowed. Connect ${deviceId} again.`)
    }).then(reload)
  const refuse = ({ id }: DeviceRequest) => attempt(() => client.refuseDeviceRequest({ params: { id } })).then(reload)
  return (
    <Part
      title="Asks to be a device of yours"
      says="A device is known by the token it first came in with. Allow another one only if you have changed the token, or moved the device, yourself: from then on it is asked what the former one was, and sees it."
    >
      {trouble}
      <Things>
        {value?.items.map((request) => (
          <li key={request.id} className="flex items-center gap-3 px-3.5 py-2">
            <Key className="size-4 shrink-0 text-faint" aria-hidden="true" />
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <Plain text={request.deviceId} />
              <span className="block text-[13px] text-faint">
                asked for by {WHO[request.credential.type]}{" "}
                <Plain text={request.credential.name ?? request.credential.id} />, {time(request.askedAt)}
              </span>
            </span>
            <Button small onClick={() => void refuse(request)}>
              Refuse
            </Button>
            <Button small onClick={() => void allow(request)}>
              Allow
            </Button>
          </li>
        ))}
      </Things>
    </Part>
  )
}

const WHO = { token: "the token", session: "the session", jwt: "an issuer's token" } as const
