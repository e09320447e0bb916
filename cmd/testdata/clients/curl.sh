set -eu
base=$1 key=$2 weak=$3 file=$4 out=$5
url=$(curl -fsS -H "Authorization: Bearer $key" -F county=Wexcombe -F 'custom_fields={}' -F "files[]=@$file" "$base/abstracts" |
	grep -o '"download_url":"[^"]*"' | cut -d '"' -f 4)
curl -fsSL -H "Authorization: Bearer $key" -o "$out" "$url"
none=$(curl -sSL -o /dev/null -w '%{http_code}' "$url")
weak=$(curl -sSL -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $weak" "$url")
echo "$none $weak"
