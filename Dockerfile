# syntax=docker/dockerfile:1
FROM python:3.12-slim AS build
WORKDIR /build
COPY requirements/uv.txt requirements/run.txt requirements/
RUN python -m venv /tools && /tools/bin/pip install --no-cache-dir --require-hashes -r requirements/uv.txt \
    && python -m venv --without-pip /app \
    && VIRTUAL_ENV=/app /tools/bin/uv pip sync --no-cache --compile-bytecode --require-hashes requirements/run.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY bot bot
COPY memory memory
RUN cd memory/recall/embedders/all_minilm_l6_v2 && sha256sum --check --strict SHA256SUMS
COPY simulator simulator
RUN VIRTUAL_ENV=/app /tools/bin/uv pip install --no-cache --compile-bytecode --no-deps .

FROM python:3.12-slim
RUN groupadd --gid 10001 mnemogram \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data mnemogram \
    && install -d -o mnemogram -g mnemogram -m 0700 /data
# `--user` may name any other user: then /data must be a folder of that user.
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DATA_DIR=/data HTTP_HOST=0.0.0.0 \
    SIMULATOR_HOST=0.0.0.0 LOG_FORMAT=json
USER mnemogram
WORKDIR /data
VOLUME /data
# 8081: the chat page, if there is no token.
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; http = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('HTTP_PORT', '8080')), timeout=4); http.request('GET', '/health/ready'); answer = http.getresponse(); print(answer.read().decode()); sys.exit(answer.status != 200)"]
CMD ["mnemogram", "run"]
