import { Monitor } from "../icons/things.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { time } from "../parts/words.ts"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { Part, Things } from "../parts/part.tsx"
import { readPages } from "../state/read-pages.ts"
import { useLoaded } from "../parts/use-loaded.tsx"

/** Browsers that have signed in. */
export function SessionSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listSessions({ query })))
  const others = value?.filter(({ current }) => !current) ?? []
  const end = (ids: readonly string[]) =>
    attempt(async () => {
      for (const id of ids) await client.revokeSession({ params: { id } })
      toast(ids.length === 1 ? "Signed out there." : "Signed out everywhere else.")
    }).then(reload)
  return (
    <Part title="Sessions" says="Browsers that are signed in as you.">
      {trouble}
      <Things>
        {value?.map(({ id, browser, createdAt, expiresAt, current }) => (
          <li key={id} className="flex items-center gap-3 px-3.5 py-2">
            <Monitor className="size-4 shrink-0 text-faint" aria-hidden="true" />
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <Plain text={browser ?? "A browser"} />
              <span className="block text-[13px] text-faint">
                since {time(createdAt)}, until {time(expiresAt)}
              </span>
            </span>
            {current ? (
              <span className="text-[13px] text-good">this one</span>
            ) : (
              <Button small onClick={() => void end([id])}>
                Sign out
              </Button>
            )}
          </li>
        ))}
      </Things>
      {others.length > 0 && (
        <Button className="mt-3" onClick={() => void end(others.map(({ id }) => id))}>
          Sign out everywhere else
        </Button>
      )}
    </Part>
  )
}
