/*
 * A stand-in for Windows' bcryptprimitives.dll. Go takes its randomness from that
 * library's ProcessPrng, which the wine of Debian 12 does not have.
 */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
	return RtlGenRandom(bytes, (ULONG)count);
}
