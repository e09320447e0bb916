#!/bin/sh
set -e
# dpkg passes "configure" and the earlier version, if there was one; rpm passes the number of versions.
first=no failed=no
case "$1:$2" in
configure: | 1:*) first=yes ;;
esac
if ! getent passwd deedkeep >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/deedkeep --no-create-home --shell /usr/sbin/nologin \
		--comment "deedkeep server" deedkeep
fi
install -d -m 0700 -o deedkeep -g deedkeep /var/lib/deedkeep
chown root:deedkeep /etc/deedkeep/config.yaml
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ $first = yes ]; then
		systemctl enable deedkeep.service
		systemctl start deedkeep.service || failed=yes
	elif systemctl is-enabled --quiet deedkeep.service; then
		systemctl restart deedkeep.service || failed=yes
	fi
fi
if [ $failed = yes ]; then
	echo 'deedkeep: the server did not start; "journalctl -u deedkeep" shows why'
elif [ $first = yes ]; then
	echo 'deedkeep: "journalctl -u deedkeep" shows the link to set up the server, and the guide is "deedkeep help install"'
fi
