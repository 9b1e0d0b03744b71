# A live site of one registry. The image runs without root and writes nothing:
#
#   docker build -t evalregistry .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL -p 8000:8000 -v "$PWD/public.duckdb:/data/public.duckdb:ro" \
#       evalregistry --allow-host example.org
#
# Serve a public file (`registry publish -o public.duckdb`), not the private registry.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY registry registry
COPY migrations migrations
COPY docs/registry.1 docs/registry.1
RUN python -m venv /opt/evalregistry && /opt/evalregistry/bin/pip install --no-cache-dir '.[serve,plot]'

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home registry
COPY --from=build /opt/evalregistry /opt/evalregistry
ENV PATH=/opt/evalregistry/bin:$PATH REGISTRY_DB=/data/public.duckdb HOME=/tmp PYTHONDONTWRITEBYTECODE=1
USER registry
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD [ "python", "-c", \
    "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/api/tasks', timeout=4)" ]
ENTRYPOINT [ "registry", "serve", "--host", "0.0.0.0", "--port", "8000" ]
