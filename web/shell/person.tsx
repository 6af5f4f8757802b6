import { ChevronsUpDown, LogOut } from "../icons/arrows.ts"
import { BookOpen, Settings } from "../icons/things.ts"
import { attempt } from "../parts/explain.ts"
import { Menu, MenuItem } from "../parts/menu.tsx"
import { Plain } from "../parts/plain.tsx"
import { base } from "../state/base.ts"
import { signOut } from "../state/identity.ts"
import { navigate } from "../state/router.ts"
import { useShell } from "./shell-context.ts"

/** Who is signed in, and the way out. */
export function Person() {
  const { name } = useShell().identity.user
  return (
    <div className="border-t border-line p-2">
      <Menu
        side="top"
        trigger={
          <button
            type="button"
            className="flex h-10 w-full items-center gap-2.5 rounded-lg px-2 text-sm hover:bg-paper"
          >
            <span
              aria-hidden="true"
              className="grid size-7 place-items-center rounded-full bg-accent-soft text-[13px] font-semibold text-accent uppercase"
            >
              {[...name][0]}
            </span>
            <span className="min-w-0 flex-1 truncate text-left">
              <span className="sr-only">Signed in as </span>
              <Plain text={name} />
            </span>
            <ChevronsUpDown className="size-4 text-faint" />
          </button>
        }
      >
        <MenuItem icon={<Settings />} onSelect={() => navigate("/settings")}>
          Settings
        </MenuItem>
        <MenuItem icon={<BookOpen />} onSelect={() => window.open(`${base}/docs`, "_blank", "noopener")}>
          Reference for programs
        </MenuItem>
        <MenuItem icon={<LogOut />} onSelect={() => void attempt(signOut)}>
          Sign out
        </MenuItem>
      </Menu>
    </div>
  )
}
