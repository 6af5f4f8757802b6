# Pawl as a container: docker build -t pawl . && docker run -p 127.0.0.1:7295:7295 -v pawl:/data pawl
# The first stage builds what `npm pack` would publish. The second contains that and its locked dependencies, but no build tools.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY core/package.json core/
COPY client/package.json client/
COPY runtime/package.json runtime/
# npm runs it after the installation. Without sources it does nothing.
COPY scripts/prepare.js scripts/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim
# bubblewrap is the sandbox for MCP servers that are programs. The container must allow user namespaces: compose.sandbox.yaml.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
COPY core/package.json core/
COPY client/package.json client/
COPY runtime/package.json runtime/
# The optional dependency is a Node.js for machines with an older version.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && npm cache clean --force \
 && mkdir /data && chown node:node /data && ln -s /app/bin/pawl.js /usr/local/bin/pawl
COPY LICENSE README.md ./
COPY bin bin
COPY --from=build /build/dist dist
ENV NODE_ENV=production PAWL_HOST=0.0.0.0 PAWL_DATA=/data
USER node
VOLUME /data
EXPOSE 7295
# /readyz, not /healthz, because it checks that the store can be written.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PAWL_PORT || 7295}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM suspends runs; they continue at the next start.
STOPSIGNAL SIGTERM
ENTRYPOINT ["pawl"]
CMD ["serve"]
