use super::*;
use std::net::Ipv4Addr;
use tare_wire::kernel::Isa;

const NETWORK: [Kernel; 4] = [
    Kernel::TcpRr,
    Kernel::TcpStream,
    Kernel::UdpRr,
    Kernel::TcpConnect,
];

fn spec(kernel: Kernel, size: u64) -> KernelSpec {
    KernelSpec {
        kernel,
        isa: Isa::Baseline,
        threads: 1,
        size,
        seconds: 0.1,
    }
}

fn sized(kernel: Kernel) -> Vec<u64> {
    let Some(sizes) = kernel.sizes() else {
        return vec![0];
    };
    vec![sizes.least, sizes.usual, 1000, sizes.most]
}

#[test]
fn every_message_comes_and_the_time_of_both_processes_is_counted() {
    for kernel in NETWORK {
        for size in sized(kernel) {
            let mut slices = Slices::new(&spec(kernel, size)).unwrap();
            let mut parts = [Part::from((0.0, 0, 0))];
            for units in [1, 50, 200] {
                slices.work(units, &mut parts).unwrap();
            }
            let per_unit = if kernel == Kernel::TcpStream {
                size as f64
            } else {
                1.0
            };
            let told = (parts[0].work, slices.check().found);
            assert_eq!(told, (251.0 * per_unit, 0.0), "{kernel} size={size}");
            assert!(parts[0].cpu_ns > 0 && parts[0].wall_ns > 0, "{parts:?}");
        }
    }
}

#[test]
fn messages_that_are_not_the_next_ones_are_counted() {
    let server = Server::start(Kernel::TcpStream, 64).unwrap();
    let stream = std::net::TcpStream::connect(server.address()).unwrap();
    let mut sent = 3_u64.to_le_bytes().to_vec();
    for number in [0, 2, 1] {
        let mut message = [0; 64];
        put(&mut message, number);
        sent.extend(message);
    }
    io::Write::write_all(&mut &stream, &sent).unwrap();
    stream::told(&stream).unwrap();
    assert_eq!(stream::told(&stream).unwrap(), 2);
}

#[test]
fn connections_leave_no_port_in_time_wait() {
    let mut slices = Slices::new(&spec(Kernel::TcpConnect, 0)).unwrap();
    let port = slices.server.as_ref().unwrap().address().port();
    slices.work(500, &mut [Part::from((0.0, 0, 0))]).unwrap();
    // The third field is the other end, the fourth the state; 06 is TIME_WAIT.
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let end = format!(":{port:04X}");
    let waits = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields[3] == "06" && (fields[1].ends_with(&end) || fields[2].ends_with(&end))
    };
    assert_eq!(table.lines().filter(waits).count(), 0);
}

#[test]
fn a_size_that_no_message_has_is_refused() {
    for kernel in NETWORK.into_iter().filter(|kernel| kernel.sizes().is_some()) {
        let refused = Slices::new(&spec(kernel, 1));
        assert!(matches!(refused, Err(KernelError::Size { .. })), "{kernel}");
    }
}

/// A writer that hands on each line.
struct Lines(std::sync::mpsc::Sender<String>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(String::from_utf8_lossy(bytes).into_owned()).unwrap();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_server_elsewhere_tells_its_port_and_serves_one_client_after_another() {
    for kernel in NETWORK {
        let spec = spec(kernel, sized(kernel)[0]);
        let (said, lines) = std::sync::mpsc::channel();
        let served = spec.clone();
        // Until the test ends: nothing else tells it to stop.
        std::thread::spawn(move || serve(&served, (Ipv4Addr::LOCALHOST, 0).into(), &mut Lines(said)));
        let mut told = String::new();
        while !told.ends_with('\n') {
            told += &lines.recv().unwrap();
        }
        let port = told.trim().strip_prefix("serves at port ").unwrap();
        let at = (Ipv4Addr::LOCALHOST, port.parse().unwrap()).into();
        for _ in 0..2 {
            let mut client = Slices::to(&spec, at).unwrap();
            let mut parts = [Part::from((0.0, 0, 0))];
            client.work(100, &mut parts).unwrap();
            assert_eq!(client.check().found, 0.0, "{kernel}");
            assert!(parts[0].work >= 100.0 && parts[0].wall_ns > 0, "{parts:?}");
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_told_with_its_address() {
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .unwrap();
    let refused = Slices::to(&spec(Kernel::TcpRr, 100), port).err().unwrap();
    let told = refused.to_string();
    assert!(told.starts_with(&format!("cannot connect to {port}: ")), "{told}");
    let taken = std::net::TcpListener::bind(port).unwrap();
    let refused = serve(&spec(Kernel::TcpRr, 100), port, &mut Vec::new()).unwrap_err();
    let told = refused.to_string();
    assert!(told.starts_with(&format!("cannot listen at {port}: ")), "{told}");
    drop(taken);
}
