import { Laptop } from "../icons/things.ts"
import { Button } from "../parts/button.tsx"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { time } from "../parts/words.ts"
import { base } from "../state/base.ts"
import { client } from "../state/client.ts"
import { Command, Part, Things } from "../parts/part.tsx"
import { DeviceRequests } from "./device-requests.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"

/** Machines of the person that are connected now, and how to connect one. */
export function DeviceSettings() {
  const { value, reload, trouble } = useLoaded(() => client.listDevices())
  return (
    <>
      <DeviceRequests />
      <Part title="Devices" says="A device keeps its own workspace; what is on it stays there.">
        {trouble}
        {value?.items.length === 0 && <p className="mb-3 text-sm text-faint">None is connected now.</p>}
        {value && value.items.length > 0 && (
          <Things>
            {value.items.map(({ deviceId, offers, connectedAt }) => (
              <li key={deviceId} className="flex items-center gap-3 px-3.5 py-2">
                <Laptop className="size-4 shrink-0 text-faint" aria-hidden="true" />
                <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                  <Plain text={deviceId} />
                  <span className="block text-[13px] text-faint">
                    connected {time(connectedAt)}
                    {offers.length > 0 && (
                      <>
                        , offers <Plain text={offers.join(", ")} />
                      </>
                    )}
                  </span>
                </span>
              </li>
            ))}
          </Things>
        )}
        <Button small className="mt-3" onClick={() => void reload()}>
          Look again
        </Button>
      </Part>
      <Part
        title="Connect one"
        says={
          <>
            Make a{" "}
            <Link to="/settings/tokens" className="text-accent underline underline-offset-2">
              token
            </Link>{" "}
            that may look and speak, then start this on the machine:
          </>
        }
      >
        <Command>{`PAWL_TOKEN=… npx pawl device --server ${location.origin}${base} --db ~/workspace.db`}</Command>
      </Part>
    </>
  )
}
