import { CopyButton } from "../../parts/copy-button.tsx"
import { Link } from "../../parts/link.tsx"
import { base } from "../../state/base.ts"

/** How a folder comes to be worked in: by a terminal that is open in it. */
export function NoFolder() {
  const command = `PAWL_TOKEN=… npx pawl chat --server ${location.origin}${base}`
  return (
    <div className="px-2.5 pt-1.5 pb-1 text-[13px] leading-snug text-soft">
      <p>
        No folder is connected. Make a{" "}
        <Link to="/settings/tokens" className="text-accent underline underline-offset-2">
          token
        </Link>
        , and start this in the folder it shall work in:
      </p>
      <div className="mt-1.5 flex items-center gap-1 rounded-lg border border-line bg-sunken pl-2.5">
        <code
          tabIndex={0}
          className="min-w-0 flex-1 overflow-x-auto py-1.5 font-mono text-xs whitespace-nowrap text-ink"
        >
          {command}
        </code>
        <CopyButton what="the command" read={() => command} />
      </div>
    </div>
  )
}
