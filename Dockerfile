FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    OPENBLAS_NUM_THREADS=1 \
    DEBUG=0 \
    DATA_DIR=/data

WORKDIR /app
COPY requirements.lock ./
COPY config/image.sh config/
RUN sh config/image.sh requirements

COPY . .
RUN sh config/image.sh static \
    && useradd --create-home --uid 1000 baseliner \
    && mkdir /data && chown baseliner /data

USER baseliner
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=10s --start-period=20s CMD \
    ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz')"]

# A worker of the server that died is replaced; should the server itself end, its container is
# started again by what runs it: compose.yaml, or docker run --restart unless-stopped.
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", "--no-ws", \
     "--workers", "2", "--blocking-threads", "2", "--workers-kill-timeout", "10", \
     "--respawn-failed-workers", "config.wsgi:application"]
