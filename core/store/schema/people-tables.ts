import type { SchemaSyntax } from "../engine/schema-syntax.ts"

/** People, how they sign in, and what they connect. Every `hash` is the SHA-256 of a secret; `sealed` is encrypted for its row. */
export const peopleTables = ({ serialKey, clustered }: SchemaSyntax) => [
  // `called` is the name that an issuer gives a person who is known by it alone. `chosen_model` is the default for all
  // clients, next to the model that was chosen last in the page and in the terminal.
  `CREATE TABLE person (
    key ${serialKey}, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, created_at BIGINT NOT NULL, called TEXT,
    chosen_model TEXT, page_model TEXT, terminal_model TEXT)`,
  // A token expires with the one that created it (`minted_by`).
  `CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL REFERENCES person (key), hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL, created_at BIGINT NOT NULL, revoked_at BIGINT, name TEXT, minted_by TEXT, expires_at BIGINT) ${clustered}`,
  "CREATE INDEX token_person ON token (person, created_at)",
  `CREATE TABLE sign_in_link (
    hash TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL REFERENCES person (key), scopes TEXT NOT NULL,
    expires_at BIGINT NOT NULL, issuer TEXT) ${clustered}`,
  // Signing out deletes the row. A revoked session stays, so that the runs it started are found and stopped. `page_hash` is
  // of the second secret, which the page stores and no cookie carries. `issuer` has vouched for the session.
  `CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL REFERENCES person (key), hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL, browser TEXT, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT,
    page_hash TEXT, issuer TEXT) ${clustered}`,
  "CREATE INDEX session_person ON session (person, created_at)",
  // `credential` requested the ticket: a connection opened with the ticket closes with it.
  `CREATE TABLE ticket (
    hash TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL REFERENCES person (key), scopes TEXT NOT NULL,
    credential TEXT NOT NULL, credential_expires_at BIGINT, expires_at BIGINT NOT NULL, lineage TEXT) ${clustered}`,
  // OAuth codes with everything that they are bound to, and the token that each was exchanged for.
  `CREATE TABLE authorization_code (
    hash TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL, scopes TEXT NOT NULL, name TEXT NOT NULL, client TEXT NOT NULL,
    redirect TEXT NOT NULL, challenge TEXT NOT NULL, resource TEXT NOT NULL, token TEXT, expires_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX authorization_code_person ON authorization_code (person)",
  "CREATE INDEX authorization_code_expires ON authorization_code (expires_at)",
  // A program's access to a person's account: the current refresh secret, the previous one, and when it changed.
  `CREATE TABLE program_grant (
    token TEXT NOT NULL PRIMARY KEY, person BIGINT NOT NULL, client TEXT NOT NULL, resource TEXT NOT NULL,
    hash TEXT NOT NULL, previous_hash TEXT, renewed_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX program_grant_hash ON program_grant (hash)",
  "CREATE INDEX program_grant_previous ON program_grant (previous_hash)",
  "CREATE INDEX program_grant_person ON program_grant (person)",
  // `id` is a hash of issuer and subject, because names and mail addresses change hands.
  `CREATE TABLE issuer_identity (
    id TEXT NOT NULL PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, person BIGINT NOT NULL, name TEXT NOT NULL,
    created_at BIGINT NOT NULL, signed_in_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX issuer_identity_person ON issuer_identity (person, issuer)",
  `CREATE TABLE sign_in_attempt (hash TEXT NOT NULL PRIMARY KEY, expires_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX sign_in_attempt_expires ON sign_in_attempt (expires_at)",
  // Content that was being written while a person was erased is erased later. Hashes of issuer identities stay, so that
  // an old token does not create the person again.
  `CREATE TABLE erased_person (id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL) ${clustered}`,
  `CREATE TABLE erased_identity (hash TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL) ${clustered}`,
  // Counts changes of a person's settings, so that other processes notice them.
  `CREATE TABLE news (person BIGINT NOT NULL, kind TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (person, kind)) ${clustered}`,

  // `lineage` names the credential that first used the name of the device, or was allowed to later (`taken_at`). The
  // columns from `request` on are the newest other credential that asks for it. `conversation` is the last one used.
  `CREATE TABLE device (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, name TEXT NOT NULL, lineage TEXT NOT NULL, bound_at BIGINT NOT NULL,
    taken_at BIGINT, request TEXT, asker TEXT, asker_credential TEXT, asked_at BIGINT, conversation TEXT,
    UNIQUE (person, name)) ${clustered}`,
  // Sockets of devices and their nodes: by `name`, or as the unnamed device of a `conversation`. The higher `number` is
  // newer. A process that is alone with its database writes nothing here.
  `CREATE TABLE connected_device (
    number ${serialKey}, node TEXT NOT NULL REFERENCES node (id) ON DELETE CASCADE, person TEXT NOT NULL, name TEXT,
    conversation TEXT UNIQUE, lineage TEXT NOT NULL, introduced TEXT, connected_at BIGINT NOT NULL)`,
  "CREATE INDEX connected_device_person ON connected_device (person, name)",
  "CREATE INDEX connected_device_node ON connected_device (node)",

  // One row. Writing a secret locks it, so that none is written under a key that is being replaced.
  `CREATE TABLE master_key (name TEXT NOT NULL PRIMARY KEY, key_id TEXT NOT NULL, changed_at BIGINT NOT NULL) ${clustered}`,
  `CREATE TABLE provider_key (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, key_id TEXT NOT NULL, sealed TEXT NOT NULL,
    updated_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX provider_key_person ON provider_key (person)",
  // Databases of people. Address and password are one secret.
  `CREATE TABLE connection (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, name TEXT NOT NULL, engine TEXT NOT NULL, key_id TEXT NOT NULL,
    sealed TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX connection_person ON connection (person, created_at)",
  `CREATE TABLE mcp_server (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, name TEXT NOT NULL, agents TEXT NOT NULL, key_id TEXT NOT NULL,
    sealed TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX mcp_server_name ON mcp_server (person, name)",
  // The tools of MCP servers, as approved and as last seen. `person` is NULL for the operator's servers.
  `CREATE TABLE mcp_tool (
    server TEXT NOT NULL, tool TEXT NOT NULL, person TEXT, agreed_hash TEXT, seen_hash TEXT NOT NULL, rule TEXT,
    updated_at BIGINT NOT NULL, again BIGINT NOT NULL DEFAULT 0, agreed TEXT, seen TEXT NOT NULL,
    PRIMARY KEY (server, tool))`,
  "CREATE INDEX mcp_tool_person ON mcp_tool (person)",
  // `version` changes with the content, not with the key that encrypts it. `renewed_until` reserves the renewal of the
  // tokens for one process.
  `CREATE TABLE mcp_sign_in (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, server TEXT NOT NULL, state TEXT NOT NULL, version TEXT NOT NULL,
    renewed_until BIGINT NOT NULL, key_id TEXT NOT NULL, sealed TEXT NOT NULL, updated_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX mcp_sign_in_person ON mcp_sign_in (person)",
  `CREATE TABLE mcp_sign_in_attempt (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, server TEXT NOT NULL, hash TEXT NOT NULL, key_id TEXT NOT NULL,
    sealed TEXT NOT NULL, expires_at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX mcp_sign_in_attempt_person ON mcp_sign_in_attempt (person)",
  "CREATE INDEX mcp_sign_in_attempt_expires ON mcp_sign_in_attempt (expires_at)",
]
